"""verify: is what a report prints what its record says, and what comes out again?"""
