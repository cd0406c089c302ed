"""What is the model told?"""
