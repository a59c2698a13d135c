"""Every question that a person or a program asks: a query, and a frozen document. Asking changes nothing."""
