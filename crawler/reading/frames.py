"""How questions and answers are told apart on a pipe: each goes behind its length."""

from struct import Struct

LENGTH = Struct("!I")
