"""The archive tool: runs the program that archives, and watches over it. It knows no database."""
