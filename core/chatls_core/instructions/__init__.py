"""What does the workspace say?"""
