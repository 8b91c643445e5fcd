"""Paper trading: orders, their fills, and the account. Money is Decimal, to the cent."""
