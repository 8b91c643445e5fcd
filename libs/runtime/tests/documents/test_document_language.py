from runtime.documents.document_language import language_of


def test_the_language_is_the_texts_where_the_template_is_in_another() -> None:
    spanish = "El plan Pro cuesta veintinueve dólares al mes y se puede cancelar en cualquier momento sin coste. " * 4
    assert language_of(spanish, "en-US") == "es"
    assert language_of("Pro: 29", "en-US") == "en"
    assert language_of("Pro: 29") is None
    assert language_of("The price of the plan is on the page that we sent to you.") == "en"
