/* The inbox: who needs somebody, beside the conversation that is open. */
import { ConversationView } from "./conversation.js";
import { make, button } from "./dom.js";
import { glyph } from "./glyphs.js";
import { block, blocks } from "./markdown.js";
import { moment, say, span } from "./words-of.js";

const STATES = [[null, "stateAll"], ["needs_human", "stateNeeds"], ["stuck", "stateStuck"], ["mine", "stateMine"], ["ai", "stateAi"]];

export const inboxView = {
  path: "inbox",
  title: "inbox",
  glyph: "inbox",
  open(stage, context, [id]) {
    const view = new InboxView(stage, context);
    view.again([id]);
    return view;
  },
};

class InboxView {
  #context; #stage; #list; #filters; #place; #open; #conversation = null; #tick; #more;

  constructor(stage, context) {
    this.#context = context;
    this.#stage = stage;
    const { inbox } = context;
    this.#filters = STATES.map(([state, label]) => button("", () => inbox.choose(state), { class: "filter", "aria-pressed": "false" },
      say(label), state === "needs_human" && make("span", { class: "count", hidden: true })));
    this.#list = make("ul", { class: "talks" });
    this.#more = button(say("more"), () => inbox.more(), { class: "quiet wide", hidden: true });
    this.#place = make("section", { class: "talk", "aria-label": say("conversation") });
    stage.append(make("div", { class: "split" },
      make("section", { class: "list", "aria-label": say("inbox") },
        make("h1", {}, say("inbox")),
        make("div", { class: "filters", role: "group", "aria-label": say("show") }, ...this.#filters),
        this.#list, this.#more),
      this.#place));
    inbox.onChange = () => this.#draw();
    this.#tick = setInterval(() => this.#age(), 1000);
    document.addEventListener("keydown", this.#key);
    this.#draw();
  }
  again([id = null]) {
    this.#stage.querySelector(".split").toggleAttribute("data-open", Boolean(id));
    if (id === this.#open) return;
    this.#open = id;
    this.#conversation?.end();
    this.#conversation = id ? new ConversationView(this.#place, this.#context, id) : null;
    if (!id) {
      this.#context.live.follow(null);
      this.#place.replaceChildren(make("p", { class: "empty" }, say("chooseOne")));
    }
    this.#draw();
  }
  frame(frame) { this.#conversation?.frame(frame); }
  end() {
    clearInterval(this.#tick);
    document.removeEventListener("keydown", this.#key);
    this.#context.inbox.onChange = () => {};
    this.#conversation?.end();
    this.#context.live.follow(null);
  }

  #draw() {
    const { inbox } = this.#context;
    STATES.forEach(([state], index) => this.#filters[index].setAttribute("aria-pressed", String(state === inbox.state)));
    const count = this.#filters[1].querySelector(".count");
    count.hidden = !inbox.waiting;
    count.textContent = inbox.waiting;
    this.#more.hidden = !inbox.next;
    const focused = document.activeElement?.closest?.(".talks a")?.dataset.id;
    this.#list.replaceChildren(...(inbox.items.length ? inbox.items.map((item) => this.#row(item)) : [
      make("li", { class: "empty" }, inbox.fault || say(inbox.loaded ? "nobody" : "loading")),
    ]));
    if (focused) this.#list.querySelector(`a[data-id="${CSS.escape(focused)}"]`)?.focus();
    this.#age();
  }
  #row(item) {
    const last = item.lastMessage;
    const here = item.id === this.#open;
    return make("li", {}, make("a", {
      href: `#/inbox/${encodeURIComponent(item.id)}`, "data-id": item.id, "data-state": item.state, ...(here && { "aria-current": "true" }),
    },
    make("span", { class: "top" },
      make("b", {}, nameOf(item)),
      make("time", { datetime: last?.createdAt || item.startedAt }, moment(last?.createdAt || item.startedAt))),
    make("span", { class: "last" }, last ? `${last.role === "visitor" || last.role === "user" ? "" : `${say(`short_${last.role}`)}: `}${(["assistant", "operator"].includes(last.role) ? plain(last.text) : last.text).slice(0, 160)}` : "…"),
    item.state === "needs_human" && item.handOver && make("span", { class: "reason" }, [reasonOf(item.handOver), item.handOver.summary?.[0]].filter(Boolean).join(" · ")),
    make("span", { class: "tags" }, stateTag(item))));
  }
  #age() {
    for (const one of this.#list.querySelectorAll("[data-since]")) {
      one.textContent = `${say("waits")} ${span(Date.now() - Date.parse(one.dataset.since))}`;
    }
  }
  /* j and k go through the list, Escape closes what is open; the rest is the conversation's. */
  #key = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || /^(input|textarea|select)$/i.test(event.target.tagName)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const ids = this.#context.inbox.items.map((item) => item.id);
    const at = ids.indexOf(this.#open);
    if (event.key === "j" && ids.length) this.#context.go("inbox", ids[Math.min(at + 1, ids.length - 1)]);
    else if (event.key === "k" && ids.length) this.#context.go("inbox", ids[Math.max(at - 1, 0)]);
    else if (event.key === "Escape" && document.querySelector("dialog[open]")) return;
    else if (!this.#conversation?.key(event.key)) {
      if (event.key !== "Escape" || !this.#open) return;
      this.#context.go("inbox");
    }
    event.preventDefault();
  };
}

/* The words of an answer alone, without the signs of its Markdown. */
function plain(text) {
  const nodes = blocks(text.slice(0, 400)).map((source) => block(source));
  for (const one of nodes.flatMap((node) => [...node.querySelectorAll("li, td, th, br")])) one.after(" ");
  return nodes.map((node) => node.textContent).join(" ");
}

/* A customer by their own id; a visitor, who has none that means anything, by its end. */
export function nameOf(item) {
  const id = item.visitor?.id || item.id;
  return item.visitor?.name || (id.length <= 24 ? id : `${say("visitor")} ${id.slice(-4)}`);
}

/* Why a person was asked for; of a newer release's reason only that one was. */
export function reasonOf({ reason }) {
  const known = ["asked", "missed", "rule", "budget_spent", "owner_idle", "handoff_timeout"].includes(reason) ? reason : "asked";
  return say(`reason_${known}`);
}

export function stateTag(item) {
  if (item.state === "needs_human") {
    return make("span", { class: "tag needs" }, glyph("clock"), make("span", { "data-since": item.waitingSince || item.startedAt }, say("waits")));
  }
  if (item.state === "stuck") return make("span", { class: "tag stuck" }, glyph("failed"), say("isStuck"));
  if (item.owner?.kind === "human") return make("span", { class: "tag human" }, glyph("person"), item.owner.name || item.owner.operatorId || say("stateHuman"));
  return make("span", { class: "tag" }, glyph("spark"), say("stateAi"));
}
