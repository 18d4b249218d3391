"""`python -m langchain_agentmemory` is the command line."""

from langchain_agentmemory.cli import main

main()
