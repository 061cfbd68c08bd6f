"""The page on which the owner reads what a client asks, narrows it, and says yes or no."""

from dataclasses import replace
from datetime import timedelta

from pdpp_server.console.choice import Ticks, decision_of, first_ticks, ticks_of, ticks_of_form
from pdpp_server.console.consent_page import Choosing, consent_page
from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page, SeeOther
from pdpp_server.console.picks import picked, picked_ends, picks_of, picks_of_form
from pdpp_server.console.visit import Visit
from pdpp_server.errors import InvalidRequest, PdppError
from pdpp_server.evidence.refusals import message_and_remedy
from pdpp_server.evidence.said import say
from pdpp_server.model.authorization import Ask

DAYS = 90
CHANGED = say("You changed something. This is what it would give now.")


def show(desks: Desks, visit: Visit) -> Page:
    ask = desks.consent.ask(visit.query.get("ask", ""))
    anew = "anew" in visit.query  # the owner wants to pick again
    return consent_page(desks, _reviewed(desks, _first(desks, ask, anew=anew), is_first=True))


def take(desks: Desks, visit: Visit) -> Page | SeeOther:
    ask_id, action = visit.value("ask"), visit.value("action")
    if action == "deny":
        return _answered(desks.consent.deny(ask_id), allowed=False)
    chosen = _chosen(desks, visit, desks.consent.ask(ask_id))
    if action == "filter" or visit.value("same"):  # still choosing
        return consent_page(desks, chosen)
    choosing = _reviewed(desks, chosen)
    if action != "approve" or choosing.review is None:
        return consent_page(desks, choosing)
    return _approved(desks, choosing, visit.value("revision"))


def _approved(desks: Desks, choosing: Choosing, revision: str) -> Page | SeeOther:
    """Only what was on the page is approved: if the boxes say something else by now, that is shown first."""
    assert choosing.review is not None
    if choosing.review.revision != revision:
        return consent_page(desks, replace(choosing, said=CHANGED))
    decision = decision_of(choosing.ticks, choosing.asked, choosing.most, desks.zone)
    try:
        return _answered(desks.consent.approve(choosing.ask.ask_id, decision, revision), allowed=True)
    except InvalidRequest as refusal:
        return consent_page(desks, replace(choosing, said=message_and_remedy(refusal)))


def show_device(desks: Desks, visit: Visit) -> Page:
    return Page("device.html", {"code": visit.query.get("user_code", ""), "said": ""})


def take_device(desks: Desks, visit: Visit) -> Page | SeeOther:
    code = visit.value("user_code")
    try:
        return SeeOther(f"/consent?ask={desks.consent.ask_by_user_code(code).ask_id}")
    except PdppError as refusal:
        return Page("device.html", {"code": code, "said": message_and_remedy(refusal)}, refusal.status)


def _answered(address: str | None, *, allowed: bool) -> Page | SeeOther:
    """Back to the client; where a device waits, there is nowhere to go."""
    return SeeOther(address) if address else Page("decided.html", {"allowed": allowed})


def _first(desks: Desks, ask: Ask, *, anew: bool) -> Choosing:
    """What the client needs; or, where it asked the same before, what the owner agreed to then."""
    earlier = None if anew else desks.consent.earlier(ask)
    offers = desks.consent.offers(ask)
    picks = picks_of(earlier, offers, desks.zone) if earlier and not ask.selections else ()
    asked = ask.selections or picked(picks, offers)
    most = desks.consent.most(asked)
    if earlier is None:
        return Choosing(ask, offers, picks, asked, most, first_ticks(asked, most, _usual_end(desks)))
    return Choosing(ask, offers, picks, asked, most, ticks_of(earlier, most, asked, desks.zone), is_again=True)


def _chosen(desks: Desks, visit: Visit, ask: Ask) -> Choosing:
    offers = desks.consent.offers(ask)
    picks = () if ask.selections else picks_of_form(visit, offers)
    asked = ask.selections or picked(picks, offers)
    most = desks.consent.most(asked)
    if visit.value("narrowed"):
        ticks = ticks_of_form(visit)
    else:  # only the picker was sent, and nothing of it is narrowed yet but the end
        first = first_ticks(asked, most, _usual_end(desks), picked_ends(picks))
        ticks = _one_end(_until(visit, first), len(asked))
    return Choosing(ask, offers, picks, asked, most, ticks, filter=visit.value("filter").strip())


def _until(visit: Visit, ticks: Ticks) -> Ticks:
    """As the picker says, if it says anything."""
    if not visit.value("mode"):
        return ticks
    told = ticks_of_form(visit)
    return replace(ticks, end=told.end, once=told.once)


def _one_end(ticks: Ticks, sources: int) -> Ticks:
    """What the card of an only source says is the end of all."""
    if sources != 1 or not ticks.ends:
        return ticks
    return replace(ticks, end=ticks.ends[0], ends={})


def _usual_end(desks: Desks) -> str:
    return (desks.local_now() + timedelta(days=DAYS)).date().isoformat()


def _reviewed(desks: Desks, choosing: Choosing, *, is_first: bool = False) -> Choosing:
    """With what the ticks would give. Where something is left to choose it is said, but not before it was tried.

    What must be affirmed by itself is asked for when it is approved, not before it can be looked at.
    """
    try:
        if not choosing.asked:
            raise InvalidRequest(say("Choose at least one source."))
        decision = replace(decision_of(choosing.ticks, choosing.asked, choosing.most, desks.zone), ai_training=True)
        return replace(choosing, review=desks.consent.review(choosing.ask.ask_id, decision))
    except InvalidRequest as refusal:
        return choosing if is_first else replace(choosing, said=message_and_remedy(refusal))
