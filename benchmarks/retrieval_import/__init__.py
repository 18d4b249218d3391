"""Do questions find the turns that answer them, after a real import?"""
