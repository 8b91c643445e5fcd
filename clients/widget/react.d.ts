import type { Nexus, NexusOptions } from "./index.js";

/** The options of the chat. `theme`, `page` and whether there is an `identify` may change later; the others count once. */
export interface NexusChatProps extends NexusOptions {
  /** Where the reader is, if the address and the title do not say it. */
  page?: { url?: string; title?: string };
}

/** Loads the chat when the component is in a page, and gives what can be called. */
export declare function useNexus(options: NexusChatProps): Nexus;

/** The chat as a component: it draws nothing where it stands. */
export declare function NexusChat(props: NexusChatProps): null;
