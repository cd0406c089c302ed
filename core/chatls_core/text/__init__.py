"""How do we read words?"""
