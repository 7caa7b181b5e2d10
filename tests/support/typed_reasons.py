"""Reasons as people type them, with characters of which Slack makes styles."""

REASONS = (
    "*urgent* release",
    "release *4.2* is out",
    "_now_ or never",
    "~cancelled~ postponed",
    "run `make test` first",
    "```a block``` of code",
    "snake_case_name fails",
    "__init__ can't be imported",
    "2*3*4 runners are down",
    "*.yaml and *.toml are broken",
    "see ~/.config and ~/.cache",
    "a lone * and a lone `",
    "**very** __loud__ ~~gone~~",
    "*bold _and italic_ at once*",
    "(*in brackets*), “_in quotes_”",
    "C* is 5 > 4 & *3 < 4*",
    "*half of it",
    "`$HOME` and $PATH_`x`",
    "_https://ci.example/job_7_ is *red*",
    "\uff0awide\uff0a \uff3fmarks\uff3f",
)
