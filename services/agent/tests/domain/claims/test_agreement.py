"""What a sentence says in words agrees with its own numbers."""

from agent.domain.claims.agreement import directions_agree


def test_a_sentence_whose_numbers_deny_its_words_is_known_by_itself() -> None:
    assert directions_agree("the macd (1.20) is below its signal (1.33)")
    assert not directions_agree("el macd (1,20) esta por encima de su senal (1,33)")
    assert directions_agree("closed at 202.33, slipped to 200.83 and recovered to 202.91")
    assert not directions_agree("cerro a 202,33 el 27 de febrero, subio a 200,83 el 28")
    assert not directions_agree("it made 41.2%, well ahead of the 77.2% from holding")
