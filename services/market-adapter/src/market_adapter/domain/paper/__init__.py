"""Paper trading: orders, how bars fill them, and the account that follows. Money is Decimal, to the cent."""
