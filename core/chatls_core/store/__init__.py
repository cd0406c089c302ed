"""How does state reach disk?"""
