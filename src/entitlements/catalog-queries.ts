// SQL of the catalog in force: views merge features and give the default plan by it.
import { sql } from 'slonik'
import type { CatalogInForce } from '../context.ts'
import type { Transaction } from '../postgres/pool.ts'
import { mergeOf } from './catalog.ts'

/** Puts a catalog in force. With several processes the last one that started, or saw a change, decides. */
export const activateCatalog = async (tx: Transaction, { catalog, hash }: CatalogInForce): Promise<void> => {
  await tx.query(sql.unsafe`
    insert into goodstanding.catalogs (catalog_hash, body)
    values (${hash}, ${sql.jsonb(catalog)})
    on conflict (catalog_hash) do update
      set activated_at = goodstanding.clock()
  `)
  const features = new Set(Object.values(catalog.plans).flatMap((plan) => Object.keys(plan.features)))
  const defaults = catalog.plans[catalog.default]?.features ?? {}
  const rows = [...features].map((feature) => {
    const given = defaults[feature]
    return {
      feature,
      merge: mergeOf(catalog, feature),
      // The default plan has no quantity to give.
      default_value: given === undefined || typeof given === 'object' ? null : given,
    }
  })
  await tx.query(sql.unsafe`
    delete from goodstanding.catalog_features
    where feature <> all(${sql.array([...features], 'text')})
  `)
  await tx.query(sql.unsafe`
    insert into goodstanding.catalog_features (feature, merge, default_value)
    select feature, merge, default_value
    from jsonb_to_recordset(${sql.jsonb(rows)}) as read (feature text, merge text, default_value jsonb)
    on conflict (feature) do update
      set merge = excluded.merge,
          default_value = excluded.default_value
  `)
}
