"""Finds secrets in texts and redacts them.

redaction        finds all of them and replaces each by `[secret:kind]`
tokens           by the format of a token, a key block, a URL or a header
vendors          the token formats of vendors
recovery_codes   our own recovery codes
assignments      by the name that a value is assigned to
told             by the sentence that tells them
languages        the same in other languages
command_lines    by the option of a program
account_numbers  payment cards and bank accounts, by their check digits
wallets          seed phrases and keys of wallets
disguises        tokens over two lines, percent-encoded or in base64
long_words       the long words of a text, found once for all
values           whether a value looks like a password or a key
span             the place of a secret
"""
