/** The events of a provider's session that are a boundary (contract, section 10). */
export const providerEvents = ["start", "end", "compact"] as const;

export type ProviderEvent = (typeof providerEvents)[number];
