/** Ids and what refers to them (contract, section 4). Pure. */

export const episodePattern = /^s-[0-9]{14}-[0-9a-f]{4}$/;
export const taskPattern = /^t-[0-9]{14}-[0-9a-f]{4}$/;
export const recordPattern = /^s-[0-9]{14}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const commitPattern = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** What stands for no task in a line. */
export const noTask = "none";

/** Whether a text opens as a conversation does (contract, section 6): such a text is recorded and derived nowhere. */
export function opensLikeConversation(text: string): boolean {
  return /^(?:transcript|messages|assistant|completion|response)[: ]/.test(text);
}
