"""What may the model do?"""
