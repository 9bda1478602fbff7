// What the server says of itself, and whether goodstanding.clock() is shifted.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from './pool.ts'

const factsRow = z.strictObject({
  version: z.string(),
  major: z.number(),
  now: z.number(),
  synchronous_commit: z.string(),
})
export type ServerFacts = z.infer<typeof factsRow>

/** Version, clock (milliseconds) and durability of the server. */
export const readServerFacts = (db: Queries): Promise<ServerFacts> =>
  db.one(sql.type(factsRow)`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int / 10000 as major,
      clock_timestamp() as now,
      current_setting('synchronous_commit') as synchronous_commit
  `)

const privilegesRow = z.strictObject({
  role: z.string(),
  superuser: z.boolean(),
  missing: z.array(z.string()),
})
export type Privileges = z.infer<typeof privilegesRow>

/** What the connected role lacks of what the service does: tables and views of ours and of pg-boss. */
export const findPrivileges = (db: Queries): Promise<Privileges> =>
  db.one(sql.type(privilegesRow)`
    select current_user::text as role,
      (select rolsuper from pg_roles where rolname = current_user) as superuser,
      coalesce((
        select json_agg(needed.name || ' (' || needed.privilege || ')' order by needed.name)
        from (
          select namespace.nspname || '.' || class.relname as name, wanted.privilege, class.oid
          from pg_class class
          join pg_namespace namespace on namespace.oid = class.relnamespace
          cross join (values ('SELECT'), ('INSERT'), ('UPDATE')) wanted (privilege)
          where (namespace.nspname = 'goodstanding' and class.relname in
                  ('accounts', 'billing_events', 'customers', 'entitlements', 'event_attempts', 'sweeps', 'workers'))
            or (namespace.nspname = 'pgboss' and class.relname = 'job')
        ) needed
        where not has_table_privilege(needed.oid, needed.privilege)
      ), '[]') as missing
  `)

/** Other roles that may write what only the service writes; superusers and owners apart. */
export const findWriters = (db: Queries) =>
  db.anyFirst(sql.type(z.strictObject({ role: z.string() }))`
    select role.rolname::text as role
    from pg_roles role
    where not role.rolsuper
      and role.rolname not like 'pg\\_%'
      and role.rolname <> current_user
      and not pg_has_role(role.rolname, (
        select relowner from pg_class where oid = 'goodstanding.entitlements'::regclass
      ), 'USAGE')
      and has_table_privilege(role.rolname, 'goodstanding.entitlements', 'INSERT, UPDATE, DELETE')
    order by role.rolname
  `)

/** Was a test-mode event that Stripe posted processed here? */
export const hasWebhooks = (db: Queries) =>
  db.oneFirst(sql.type(z.strictObject({ heard: z.boolean() }))`
    select exists (
      select 1
      from goodstanding.billing_events
      where not livemode
        and source = 'webhook'
        and outcome in ('applied', 'no_change', 'superseded')
    ) as heard
  `)

/** Is goodstanding.clock() another time than the server's? */
export const hasClockOffset = (db: Queries): Promise<boolean> =>
  db.oneFirst(sql.type(z.strictObject({ shifted: z.boolean() }))`
    select exists (select 1 from goodstanding.clock_offset where seconds <> 0) as shifted
  `)
