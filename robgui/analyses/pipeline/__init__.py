"""Pipeline audit: does the answer depend on how a picture is prepared for the model?"""
