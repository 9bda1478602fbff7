// One finding of doctor: in order, worth knowing, or wrong; each says what to do.
export type Check = { ok: boolean | 'note'; what: string }

export const ok = (what: string): Check => ({ ok: true, what })
export const note = (what: string): Check => ({ ok: 'note', what })
export const fail = (what: string): Check => ({ ok: false, what })
