"""What do we remember?"""
