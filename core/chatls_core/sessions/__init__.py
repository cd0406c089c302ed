"""What was said before?"""
