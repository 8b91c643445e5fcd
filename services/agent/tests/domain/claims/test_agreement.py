"""What a sentence says in words agrees with its own numbers."""

from agent.domain.claims.agreement import agrees


def test_a_sentence_whose_numbers_deny_its_words_is_known_by_itself() -> None:
    assert agrees("the macd (1.20) is below its signal (1.33)")
    assert not agrees("el macd (1,20) esta por encima de su senal (1,33)")
    assert agrees("closed at 202.33, slipped to 200.83 and recovered to 202.91")
    assert not agrees("cerro a 202,33 el 27 de febrero, subio a 200,83 el 28")
    assert not agrees("it made 41.2%, well ahead of the 77.2% from holding")
