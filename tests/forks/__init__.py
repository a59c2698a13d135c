"""Forks the Python processes that tests start, from one that has loaded the libraries already.

Loading them is nearly all that a command costs: 0.7 s for `vitrine`, 1.5 s for a crawl. A fork has the
arguments, folder, environment, files, signals and parent of a process that is started, and runs its module as
`python -m` does; `starts` says when that makes no difference. A test that is about the start asks for
`really_started`.
"""
