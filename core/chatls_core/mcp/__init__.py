"""Who else can serve us?"""
