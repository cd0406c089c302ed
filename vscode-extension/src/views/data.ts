/** What the server's commands answer, as far as the views draw it. Every field may be missing: servers differ in age. */

export interface InstructionEntry {
  id: string;
  kind: string;
  title: string;
  uri?: string;
  /** `system`, `turn`, `cut`, `unmatched`, or one a newer server knows. */
  status: string;
  why?: string;
  bytes?: number;
  tokens?: number;
  patterns?: string[];
}

export interface ImportEntry {
  source: string;
  /** Zero-based. */
  line: number;
  written: string;
  uri?: string;
  status: string;
  reason?: string;
  bytes?: number;
  cutBytes?: number;
}

export interface InstructionReport {
  enabled?: boolean;
  trusted?: boolean;
  files?: InstructionEntry[];
  imports?: ImportEntry[];
  rules?: InstructionEntry[];
  cut?: InstructionEntry[];
}

export interface FactSource {
  kind: string;
  session?: string;
  message?: string;
  time?: string;
}

export interface Fact {
  id: string;
  content: string;
  category: string;
  score?: number;
  confidence?: number;
  provenance?: string;
  ageDays?: number;
  /** Since when it is true; 1970 where nobody wrote that down. */
  validFrom?: string;
  pinned?: boolean;
  sensitive?: boolean;
  sources?: FactSource[];
}

/** What is known of where an item comes from: a fact by itself, other items with the facts beside them. */
export interface ItemDetails {
  fact?: Fact;
  title?: string;
  text?: string;
  sources?: FactSource[];
  facts?: Fact[];
  /** What of it can be edited, with the values now. */
  fields?: Record<string, string>;
}

export interface ProfileField {
  /** Names the entry; several entries may have one key. */
  id?: string;
  key: string;
  value: string;
  said?: FactSource;
  source?: string;
  stale?: boolean;
  sensitive?: boolean;
}

export interface Topic {
  name: string;
  mentions?: number;
  summary?: string;
  lastSeen?: string;
  source?: FactSource;
}

export interface Project {
  name: string;
  path?: string;
  description?: string;
  status?: string;
  technologies?: string[];
  lastActive?: string;
  source?: FactSource;
}

export interface Episode {
  id: string;
  date: string;
  summary: string;
  outcome?: string;
  project?: string;
  source?: FactSource;
}

/** A week or a month summed up. */
export interface Digest {
  name: string;
  /** `weekly` or `monthly`. */
  kind: string;
  title: string;
  /** ISO dates; `end` is the last day. */
  start: string;
  end: string;
  text: string;
}

/** Something learned that waits for the user's yes. */
export interface WaitingItem {
  id: string;
  kind: string;
  text: string;
  category?: string;
  date?: string;
  session?: string;
  message?: string;
  /** From a conversation that has swallowed content from outside. */
  external?: boolean;
}

/** Everything the memory view shows. */
export interface MemoryContents {
  waiting: WaitingItem[];
  /** Those of all categories; empty where `more` reads them. */
  facts: Fact[];
  /** How many facts there are, shown or not. */
  total: number;
  /** Where there are too many to read at once: how many each category has, and how they are read. */
  more?: { counts: Record<string, number>; best: number; load(category: string): Promise<Fact[]> };
  profile: ProfileField[];
  projects: Project[];
  topics: Topic[];
  episodes: Episode[];
  /** How many episodes there are, shown or not. */
  episodeTotal?: number;
  digests: Digest[];
  /** What is wrong with the files, in sentences. */
  problems?: string[];
}

export interface RecallItem {
  source?: FactSource;
  kind: string;
  id: string;
  text: string;
  why?: string;
  date?: string;
  category?: string;
}

export interface PromptSection {
  name: string;
  text: string;
  tokens: number;
  cached?: boolean;
}

export interface PromptMessage {
  role: string;
  kind: string;
  text: string;
  tokens: number;
}

export interface PromptPreview {
  provider?: string;
  model?: string;
  window?: number;
  tokens?: number;
  sections?: PromptSection[];
  messages?: PromptMessage[];
}

export interface AttachedContext {
  name: string;
  tokens?: number;
  /** Not whole in the prompt: the model reads it by its tool. */
  folded?: boolean;
  /** Folded because the user wants it so, not for its size. */
  fold?: boolean;
  /** Tokens of its passages that rode with questions and stand in the history. */
  toldTokens?: number;
}

export interface Checkpoint {
  id: string;
  label?: string;
  time?: string;
  messages?: number;
}
