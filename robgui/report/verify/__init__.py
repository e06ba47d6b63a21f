"""verify: does a report print what its record says, and does that come out again?"""
