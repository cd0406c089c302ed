/** Palette commands that are one server command: what they ask first, and the title their result has. */

/** One question before a command runs. */
export interface Input {
  /** The argument it fills. */
  name: string;
  prompt: string;
  placeholder?: string;
  /** An empty answer leaves the argument out; otherwise it ends the command. */
  optional?: boolean;
  /** Filled with the selected text. */
  selection?: boolean;
}

export interface ServerCommandEntry {
  /** The extension's id, after `chatls.ui.`. */
  id: string;
  /** The server's id, after `chatls.`. */
  command: string;
  title: string;
  inputs?: Input[];
  /** Sends the open session's id. */
  session?: boolean;
  /** Sends the active document's URI as `uri`. */
  document?: boolean;
  /** Only one sentence to tell, instead of a preview. */
  toast?: boolean;
}

/** `t` translates; the table is built once per activation. */
export function serverCommands(t: (text: string) => string): ServerCommandEntry[] {
  return [
    {
      id: 'memory.remember',
      command: 'memory.remember',
      title: t('Remember'),
      toast: true,
      inputs: [{ name: 'content', prompt: t('What should be remembered?'), placeholder: t('We deploy on Thursdays'), selection: true }],
    },
    {
      id: 'memory.recall',
      command: 'memory.recall',
      title: t('Recall'),
      inputs: [{ name: 'query', prompt: t('What do you want to recall?'), placeholder: t('deployment'), selection: true }],
    },
    { id: 'memory.facts', command: 'memory.facts', title: t('Facts') },
    { id: 'memory.profile', command: 'memory.profile', title: t('Profile') },
    {
      id: 'memory.timeline',
      command: 'memory.timeline',
      title: t('Timeline'),
      inputs: [{ name: 'query', prompt: t('About what? Empty shows everything.'), optional: true }],
    },
    { id: 'memory.topics', command: 'memory.topics', title: t('Topics') },
    { id: 'memory.projects', command: 'memory.projects', title: t('Projects') },
    { id: 'memory.stats', command: 'memory.stats', title: t('Memory Statistics') },
    { id: 'memory.longterm', command: 'memory.longterm', title: t('Long-term Memory') },
    { id: 'memory.map', command: 'memory.map', title: t('Memory Index') },
    {
      id: 'memory.daily',
      command: 'memory.daily',
      title: t('Daily Notes'),
      inputs: [{ name: 'date', prompt: t('Which day? “week” for the last seven; empty shows today.'), placeholder: '2026-03-31', optional: true }],
    },
    { id: 'memory.digests', command: 'memory.digests', title: t('Digests') },
    { id: 'memory.list', command: 'memory.list', title: t('Memory Files') },
    {
      id: 'memory.load',
      command: 'memory.load',
      title: t('Loaded into the Conversation'),
      session: true,
      inputs: [{ name: 'date', prompt: t('Which day should the conversation know about?'), placeholder: '2026-03-31' }],
    },
    {
      id: 'memory.neighbors',
      command: 'memory.neighbors',
      title: t('Connections'),
      inputs: [{ name: 'query', prompt: t('Connections of what?'), selection: true }],
    },
    { id: 'memory.compact', command: 'memory.compact', title: t('Tidy Memory') },
    { id: 'instructions.show', command: 'instructions.show', title: t('Instructions'), document: true },
    { id: 'instructions.reload', command: 'instructions.reload', title: t('Instructions Reloaded') },
    { id: 'prompt.show', command: 'prompt.show', title: t('Exact Prompt'), session: true },
    {
      id: 'session.search',
      command: 'session.search',
      title: t('Found in Sessions'),
      inputs: [{ name: 'query', prompt: t('Search saved sessions for…') }],
    },
    { id: 'session.compact', command: 'session.compact', title: t('Conversation Compacted'), session: true, toast: true },
    { id: 'skill.list', command: 'skill.list', title: t('Skills'), session: true },
    { id: 'persona.list', command: 'persona.list', title: t('Personas'), session: true },
    { id: 'context.list', command: 'context.list', title: t('Contexts') },
    { id: 'cost', command: 'cost.show', title: t('Cost'), session: true },
    { id: 'config', command: 'config.show', title: t('Configuration') },
    { id: 'policy', command: 'policy.show', title: t('Tool Policy') },
    { id: 'mcp.list', command: 'mcp.list', title: t('MCP Servers') },
    {
      id: 'mcp.restart',
      command: 'mcp.restart',
      title: t('MCP Servers'),
      inputs: [{ name: 'name', prompt: t('Which MCP server? Empty takes all.'), optional: true }],
    },
    {
      id: 'mcp.stop',
      command: 'mcp.stop',
      title: t('MCP Servers'),
      inputs: [{ name: 'name', prompt: t('Which MCP server?') }],
    },
    { id: 'doctor', command: 'doctor.show', title: t('Doctor') },
  ];
}
