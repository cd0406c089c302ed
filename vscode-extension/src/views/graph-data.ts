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

export type ToGraph = { type: 'graph'; graph: Graph };
export type FromGraph = { type: 'ready' } | { type: 'open'; id: string };
