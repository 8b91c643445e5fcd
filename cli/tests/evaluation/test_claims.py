"""False sentences made from true ones are told from them: each has one thing changed."""

from nexus_cli.evaluation.claims import CHANGES, made_sentences, measure


def test_each_false_sentence_is_caught_and_true_ones_are_not_held() -> None:
    found = measure(600, seed=20)
    assert found.passed == []
    assert len(found.held_back) <= 0.01 * found.true
    assert set(found.false) == set(CHANGES)


def test_both_languages_are_made_and_a_change_changes_the_sentence() -> None:
    true = ""
    for sentence in made_sentences(300, seed=3):
        if sentence.change is None:
            true = sentence.text
        else:
            assert sentence.text != true
    assert {sentence.language for sentence in made_sentences(60, seed=3)} == {"en", "es"}
