"""No page of another site can act here, frame us, or make us load anything."""

import pytest

from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import Flow
from tests.scenarios.console.visitor import ORIGIN, PASSWORD, Visitor, fields_of
from tests.worlds.world import World

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@requirement("con.forms.own-only")
def test_a_form_without_the_token_of_its_session_changes_nothing(owner: Visitor, world: World) -> None:
    action = f"/clients/{world.grant_id}"

    for token in ([], [("form_token", "")], [("form_token", "0" * 64)]):
        response = owner.post(action, token)
        assert response.status_code == 403
        assert "This form did not come from a page of yours" in response.text

    assert world.owner.grant(world.grant_id)[0].state.revoked_at is None


@requirement("con.forms.own-only")
@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"}],
)
def test_a_form_of_another_site_changes_nothing(owner: Visitor, world: World, headers: dict[str, str]) -> None:
    fields = fields_of(owner.page("/clients"), f"/clients/{world.grant_id}")

    assert owner.post(f"/clients/{world.grant_id}", fields, **headers).status_code == 403

    assert world.owner.grant(world.grant_id)[0].state.revoked_at is None


@requirement("con.forms.own-only")
def test_the_sign_in_itself_needs_the_form_of_this_visitor(visitor: Visitor) -> None:
    fields = [*fields_of(visitor.page("/sign-in"), "/sign-in"), ("password", PASSWORD)]
    visitor.http.cookies.clear()

    assert visitor.post("/sign-in", fields).status_code == 403


@requirement("con.forms.own-only")
def test_a_token_of_one_session_is_none_of_another(owner: Visitor, world: World) -> None:
    fields = fields_of(owner.page("/clients"), f"/clients/{world.grant_id}")
    owner.http.cookies.clear()
    owner.sign_in()

    assert owner.post(f"/clients/{world.grant_id}", fields).status_code == 403


@requirement("con.pages.policy")
@pytest.mark.parametrize(
    "path", ["/", "/clients", "/activity", "/sources", "/connect", "/search?q=lease", "/device", "/records/a/b:c"]
)
def test_every_page_forbids_scripts_frames_and_strangers(owner: Visitor, path: str) -> None:
    response = owner.get(path)

    assert response.headers["content-security-policy"] == POLICY
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "same-origin"
    assert response.headers["cache-control"] == "private, no-store"
    assert not any(word in response.text for word in ("<script", "style=", "javascript:", "onclick", 'src="http'))


@requirement("con.pages.policy")
def test_only_consent_may_lead_a_form_to_its_client(owner: Visitor, flow: Flow) -> None:
    response = owner.get(f"/consent?ask={flow.ask()}")

    assert "form-action 'self' http://localhost;" in response.headers["content-security-policy"]
