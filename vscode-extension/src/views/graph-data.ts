/** The knowledge graph as the server gives it, and the messages of its editor tab. */

export interface GraphNode {
  id: string;
  /** `fact`, `topic`, `project`, `profile`, `episode`, `session`, …; open. */
  kind: string;
  title: string;
  summary?: string;
  weight?: number;
}

export interface GraphEdge {
  a: string;
  b: string;
  weight?: number;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** Nodes in all, drawn or not. */
  totalNodes?: number;
}

/** What is known of a node beside its name: its whole text, who said it, and its facts. */
export interface NodeDetails {
  text: string;
  /** In words, such as `you, 2026-03-01`; with a conversation where there is one. */
  sources: { words: string; session?: string; message?: string }[];
  /** `id` is that of the fact's node. */
  facts: { id: string; text: string; category: string }[];
}

/** What the page keeps over a reload of the window. */
export interface GraphState {
  focused?: string;
  search?: string;
  /** Kinds that are not drawn. */
  hidden?: string[];
}

export type ToGraph =
  | { type: 'graph'; graph: Graph }
  | { type: 'details'; id: string; details: NodeDetails }
  | { type: 'focus'; id: string }
  /** Why there is no graph, or not all of it. */
  | { type: 'problem'; text: string };
export type FromGraph =
  | { type: 'ready' }
  | { type: 'open'; id: string }
  | { type: 'details'; id: string }
  | { type: 'conversation'; session: string; message?: string };
