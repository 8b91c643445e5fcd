"""What `nexus company` says when the gateway refuses."""

from nexus_cli.commands.company import refusal


def test_a_field_that_the_line_names_already_is_not_named_again() -> None:
    fault = {"field": "name", "message": "too long"}
    assert refusal(422, {"detail": "name: too long", "errors": [fault]}) == "name: too long"
    others = [fault, {"field": "site", "message": "use https"}]
    assert refusal(422, {"detail": "name: too long", "errors": others}) == "name: too long; site: use https"
    said = {"detail": "some fields are not valid", "errors": others}
    assert refusal(422, said) == "some fields are not valid; name: too long; site: use https"
    assert refusal(503, {}) == "503"
