"""How does text change?"""
