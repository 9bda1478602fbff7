// Exit codes of every command, documented by `goodstanding help` and the README. Never renumber one: scripts and
// init systems rely on them.

export const EXIT = {
  ok: 0,
  /** For a reason that has no code of its own. */
  failed: 1,
  /** Unknown command, missing or wrong argument. */
  usage: 2,
  /** It ran, and found something wrong (doctor, a check). */
  found_problems: 3,
  not_allowed: 4,
  not_found: 5,
  /** The state is another one than the command assumes. */
  conflict: 6,
  /** The database or Stripe is away, or somebody else holds the lock (EX_TEMPFAIL). */
  try_again: 75,
  /** The configuration is wrong (EX_CONFIG). */
  configuration: 78,
  /** Ctrl-C, or a second signal. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
