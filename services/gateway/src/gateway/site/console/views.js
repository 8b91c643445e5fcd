/* The views of the console, in the order of its menu. A new view only needs an entry here. */
import { beginView } from "./begin.js";
import { erasuresView } from "./erasures.js";
import { failedView } from "./failed.js";
import { inboxView } from "./inbox.js";
import { keysView } from "./keys.js";
import { knowledgeView } from "./knowledge.js";
import { namedView } from "./named.js";
import { repliesView } from "./replies.js";
import { reportsView } from "./reports.js";
import { settingsView } from "./settings.js";
import { teamView } from "./team.js";
import { usageView } from "./usage.js";

export const VIEWS = [inboxView, namedView, repliesView, knowledgeView, failedView, reportsView, usageView, settingsView, teamView, keysView, erasuresView, beginView];
