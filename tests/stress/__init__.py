"""Long rounds that no suite has the time for; each is a command and has a short round in the suite."""
