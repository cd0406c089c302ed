"""What did the user attach?"""
