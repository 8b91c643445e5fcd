"""Files and pictures between a visitor in the widget and a human agent in the console."""

import asyncio
import base64
import re
import struct
import zlib

import pytest
from playwright.async_api import FilePayload, Locator, Route, expect

from tests.browser.axe import violations
from tests.browser.chat_page import conversation_of
from tests.browser.console import a_visitor, opened, row_of, signed_in
from tests.browser.visits import Visits
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")


def picture(height: int = 80) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + b"\x20\x60\xa0" * 120) * height)
    head = struct.pack(">IIBBBBB", 120, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


DROP = """(field) => {
  const data = new DataTransfer();
  data.items.add(new File(["ours"], "internal.txt", { type: "text/plain" }));
  field.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


TERMS = FilePayload(name="terms.txt", mimeType="text/plain", buffer=b"thirty days")


async def test_what_is_chosen_waits_for_its_message_like_the_words(visits: Visits, stack: RunningStack) -> None:
    """In another conversation, while it is on its way, and in a page that is loaded again."""
    async with a_visitor(stack) as visitor, a_visitor(stack) as other:
        for one in (visitor, other):
            await one.ask("hello")
        page, held, lost = await opened(visits, visitor), asyncio.Event(), [True]

        async def hold(route: Route) -> None:
            """The first request is lost, and comes again by itself."""
            await held.wait()
            await (route.abort() if lost and lost.pop() else route.continue_())

        await page.route("**/files?name=*", hold)
        await page.locator(".composer input[type=file]").set_input_files(TERMS)
        await expect(page.locator(".chosen")).to_contain_text("Sending")
        rows, chosen = page.locator(".talks"), page.locator(".composer .chosen li")
        await rows.locator(f'a[data-id="{other.conversation}"]').click()
        await expect(page.get_by_role("button", name="Attach files")).to_have_count(1)
        await expect(chosen).to_have_count(0)
        held.set()
        await rows.locator(f'a[data-id="{visitor.conversation}"]').click()
        await expect(chosen).to_contain_text(["1 KB"])
        await page.reload()
        await expect(chosen).to_contain_text(["terms.txt"])
        await page.get_by_role("button", name="Take over and send").click()
        sent = await visitor.wait_for("message.created", lambda frame: frame["message"]["role"] == "operator")
        assert [file["name"] for file in sent["message"]["files"]] == ["terms.txt"]
        await expect(chosen).to_have_count(0)
        await page.reload()
        await expect(page.locator(".thread .said.operator .files")).to_contain_text("terms.txt")
        await expect(chosen).to_have_count(0)


async def test_a_visitors_files_wait_in_a_page_that_is_loaded_again(visits: Visits) -> None:
    chat = await visits.chat()
    chosen = chat.panel.locator(".chosen li")
    await chat.panel.locator("input[type=file]").set_input_files(TERMS)
    await expect(chosen).to_contain_text(["1 KB"])
    await chat.page.reload()
    await expect(chosen).to_contain_text(["terms.txt"])
    await chat.panel.get_by_role("button", name="Send", exact=True).click()
    await expect(chat.own.last.locator(".files")).to_contain_text("terms.txt")
    await chat.page.reload()
    await expect(chat.own.last.locator(".files")).to_contain_text("terms.txt")
    await expect(chosen).to_have_count(0)


async def is_drawn(shown: Locator) -> None:
    await expect(shown).to_be_visible()
    await expect(shown).to_have_js_property("naturalWidth", 120)


async def test_a_picture_and_a_document_go_both_ways_and_what_is_not_taken_says_why(visits: Visits) -> None:
    chat = await visits.chat()
    await chat.panel.locator("input[type=file]").set_input_files(
        FilePayload(name="mi foto.png", mimeType="image/png", buffer=picture())
    )
    await expect(chat.panel.locator(".chosen")).to_contain_text("1 KB")
    assert await violations(chat.page) == []
    await chat.panel.get_by_role("button", name="Send", exact=True).click()
    await is_drawn(chat.own.last.locator(".files img"))
    await expect(chat.own.last.locator(".body")).to_be_hidden()
    await expect(chat.panel.locator(".chosen")).to_be_hidden()
    page = await signed_in(visits)
    await row_of(page, await conversation_of(chat.page)).click()
    await is_drawn(page.locator(".thread .said.visitor .files img"))
    choose = page.locator(".composer input[type=file]")
    await choose.set_input_files(
        [
            FilePayload(name="offer.html", mimeType="text/html", buffer=b"<script>alert(1)</script>"),
            TERMS,
        ]
    )
    await expect(page.locator(".chosen .failed")).to_contain_text("web pages and SVG")
    assert await violations(page) == []
    await page.get_by_role("button", name="Remove offer.html").click()
    # A note is for colleagues: what is chosen goes with a message to the visitor, and is out of sight until then.
    await page.get_by_role("button", name="Private note").click()
    await expect(page.locator(".chosen")).to_be_hidden()
    await expect(page.get_by_role("button", name="Attach files")).to_be_hidden()
    await page.get_by_label("Your message").evaluate(DROP)
    await page.get_by_role("button", name="Private note").click()
    await expect(page.locator(".chosen li")).to_have_count(1)
    await page.get_by_label("Your message").fill("Our terms:")
    await page.get_by_role("button", name="Take over and send").click()
    async with chat.page.expect_download() as saved:
        await chat.panel.locator("article.operator .files button").click()
    download = await saved.value
    assert download.suggested_filename == "terms.txt"
    assert (await download.path()).read_bytes() == b"thirty days"
    await chat.page.reload()
    await is_drawn(chat.own.last.locator(".files img"))


async def test_what_follows_an_agents_files_is_in_sight_and_a_long_name_stands_beside_its_sign(visits: Visits) -> None:
    chat = await visits.chat(size=(390, 640))
    await chat.say("a human please")
    await expect(chat.panel.get_by_text("I have let the team know")).to_be_visible()
    page = await signed_in(visits)
    await row_of(page, await conversation_of(chat.page)).click()
    names = [f"{'a name that is far too long for one line of a small screen ' * 2}{number}.txt" for number in range(3)]
    await page.locator(".composer input[type=file]").set_input_files(
        [FilePayload(name=name, mimeType="text/plain", buffer=b"one") for name in names]
    )
    await expect(page.locator(".chosen small", has_text="KB")).to_have_count(3)
    await page.get_by_label("Your message").fill("Three files")
    await page.get_by_role("button", name="Take over and send").click()
    sent = chat.panel.locator("article.operator .file")
    await expect(sent).to_have_count(3)
    await expect(sent.last).to_be_in_viewport(ratio=1)
    name, sign = await sent.last.locator("span").bounding_box(), await sent.last.locator("svg").bounding_box()
    assert name
    assert sign
    assert sign["x"] + sign["width"] <= name["x"]
    await page.get_by_label("Your message").fill("And a word")
    await page.get_by_role("button", name="Send", exact=True).click()
    await expect(chat.panel.get_by_text("And a word")).to_be_in_viewport(ratio=1)
    await expect(chat.panel.get_by_role("button", name="Latest messages")).to_be_hidden()


async def test_a_tall_picture_leaves_what_follows_it_in_sight(visits: Visits) -> None:
    chat = await visits.chat()
    await chat.say("a human please")
    # From here on nobody answers: nothing else comes that would be followed.
    await expect(chat.panel.get_by_text("I have let the team know")).to_be_visible()
    await chat.panel.locator("input[type=file]").set_input_files(
        [
            FilePayload(name="tall.png", mimeType="image/png", buffer=picture(400)),
            FilePayload(name="last.txt", mimeType="text/plain", buffer=b"the end"),
        ]
    )
    await chat.panel.get_by_role("button", name="Send", exact=True).click()
    await is_drawn(chat.own.last.locator(".files img"))
    await expect(chat.own.last.get_by_role("button", name="last.txt")).to_be_in_viewport(ratio=1)
    page = await signed_in(visits)
    await row_of(page, await conversation_of(chat.page)).click()
    said = page.locator(".thread .said.visitor").last
    await is_drawn(said.locator(".files img"))
    await expect(said.get_by_role("button", name="last.txt")).to_be_in_viewport(ratio=1)


PHOTO = """async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 3200, height: 2400 });
  const pen = canvas.getContext("2d"), dots = pen.createImageData(3200, 2400);
  const words = new Uint32Array(dots.data.buffer);
  for (let at = 0, seed = 1; at < words.length; at += 1) {
    seed = Math.imul(seed, 1664525) + 1013904223 | 0;
    words[at] = 0xff000000 | (seed >>> 8 & 0x3f3f3f) | (at % 3200 < 1600 ? 0xc0 : 0xc00000);
  }
  pen.putImageData(dots, 0, 0);
  const made = await new Promise((done) => { canvas.toBlob(done, "image/jpeg", 0.98); });
  return new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result.split(",")[1]);
    reader.readAsDataURL(made);
  });
}"""
"""Red to the left and blue to the right, with dots that a JPEG cannot save."""
SIDEWAYS = b"\xff\xe1\x00\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
"""What a telephone says that was held upright: turn it to the right."""
COLOURS = """(picture) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 30, height: 40 });
  const pen = canvas.getContext("2d"), at = (y) => pen.getImageData(15, y, 1, 1).data;
  pen.drawImage(picture, 0, 0, 30, 40);
  return [10, 30].map(at).map(([red, , blue]) => (red > blue ? "red" : "blue"));
}"""


async def test_a_photograph_is_made_smaller_before_it_is_sent_and_stays_upright(visits: Visits) -> None:
    chat = await visits.chat()
    raw = base64.b64decode(await chat.page.evaluate(PHOTO))
    photo = raw[:2] + SIDEWAYS + raw[2:]
    assert len(photo) > 2_800_000
    # What no browser can read as a picture goes as it is, and that is said.
    chosen = chat.panel.locator(".chosen li")
    await chat.panel.locator("input[type=file]").set_input_files(
        [
            FilePayload(name="IMG_0815.JPEG", mimeType="image/jpeg", buffer=photo),
            FilePayload(name="odd.heic", mimeType="image/heic", buffer=b"x" * 2_900_000),
        ]
    )
    await expect(chosen.first).to_contain_text(re.compile(r"IMG_0815[.]JPEG.*[12][.]\d MB"))
    await expect(chosen.nth(1)).to_contain_text("it could not be made smaller")
    await chat.panel.get_by_role("button", name="Remove odd.heic").click()
    await chat.panel.get_by_role("button", name="Send", exact=True).click()
    sent = chat.own.last.locator(".files")
    await expect(sent).to_contain_text("IMG_0815.jpg")
    shown = sent.locator("img")
    await expect(shown).to_have_js_property("naturalWidth", 1920)
    await expect(shown).to_have_js_property("naturalHeight", 2560)
    response = await chat.page.request.get(str(await shown.get_attribute("src")))
    stored = await response.body()
    assert len(stored) <= 2_800_000
    assert stored.startswith(b"\xff\xd8\xff")
    assert b"Exif" not in stored
    copy = base64.b64encode(stored).decode()
    picture = f"""async () => {{
      const picture = new Image();
      picture.src = "data:image/jpeg;base64,{copy}";
      await picture.decode();
      return ({COLOURS})(picture);
    }}"""
    assert await chat.page.evaluate(picture) == ["red", "blue"]
