"""Trust: which code in which files this user has allowed to run.

Trust belongs to the user, never to a file. It is kept in the user's own folder, keyed by the
content of everything that would run. A workspace, a suite or a side file can only ask for it. What
was hashed is what runs: see Snapshot.
"""

from robgui.core.trust.code import Code, SourceFile
from robgui.core.trust.store import is_trusted, revoke, trust, trusted

__all__ = ["Code", "SourceFile", "is_trusted", "revoke", "trust", "trusted"]
