"""What an analysis is, and how a request for one is carried out."""
