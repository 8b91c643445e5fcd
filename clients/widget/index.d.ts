/** Light or dark; `auto` is the system's. */
export type Theme = "light" | "dark" | "auto";

/** A token of your server's for who is signed in, or a function that fetches one and is called again when it has expired. */
export type Token = string | (() => string | Promise<string>);

/** What the chat tells the page, by name; `detail` of a CustomEvent. */
export interface NexusEvents {
  open: null;
  close: null;
  message: { id: string; role: "visitor" | "assistant" | "operator" | "system"; text: string };
  /** How many messages have not been seen. */
  unread: number;
  /** Who answers. */
  owner: { kind: "ai" | "waiting" | "human"; operatorId?: string; name?: string };
  /** How the connection is; `code` where it has ended for good. */
  state: { state: string; code?: number };
}

/** What can be called in a page, as in `window.Nexus`. What is called before the chat has loaded is done when it has. */
export interface Nexus {
  open(): void;
  close(): void;
  toggle(): void;
  /** Opens the chat and says this in the visitor's name. */
  send(text: string): void;
  /** Somebody is signed in on your site. */
  identify(token: Token): Promise<void>;
  /** They have signed out. */
  forget(): void;
  theme(name: Theme): void;
  /** Where the reader is, if the address and the title do not say it. */
  page(about: { url?: string; title?: string }): void;
  /** Listens to an event; what comes back stops listening. */
  on<Name extends keyof NexusEvents>(name: Name, listener: (event: CustomEvent<NexusEvents[Name]>) => void): () => void;
}

export interface NexusOptions {
  /** Where your Nexus is, such as https://chat.example.com. */
  host: string;
  /** Your company's id, such as acme-rockets. */
  company: string;
  /** en or es; else the page's language, else the browser's. */
  locale?: string;
  /** The name at its head; else your assistant's. */
  title?: string;
  /** The first words; else your assistant's. */
  greeting?: string;
  /** Questions of one click; else your assistant's. */
  suggestions?: string[];
  theme?: Theme;
  /** #rrggbb; else your company's. */
  color?: string;
  position?: "left" | "right";
  /** False: no button; your page opens the chat. */
  launcher?: boolean;
  /** Who is signed in on your site, known before the chat begins. */
  identify?: Token;
  /** For a content security policy that asks for one. */
  nonce?: string;
}

/** The page's chat, whether it has loaded or not. */
export declare const nexus: Nexus;

/** Loads the chat, once a page. On a server it does nothing. */
export declare function createNexus(options: NexusOptions): Nexus;

declare global {
  interface Window {
    Nexus?: Nexus & { readonly element: HTMLElement };
  }
}
