"""Answers to questions: why, log, rules, branches, statistics, audit."""
