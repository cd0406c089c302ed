"""Who answers?"""
