"""The repository's rules that a program can check. Run: python3 -m tools.tidy"""
