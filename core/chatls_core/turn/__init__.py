"""How does one exchange run?"""
