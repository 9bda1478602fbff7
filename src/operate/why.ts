// RULE: why a tenant may, or may not, use a feature: the chain of evidence in plain words, each link with whether it
// holds, and the first that fails. Facts in, sentences out; it decides nothing, the views have.
import { toIso } from '../time.ts'
import { customerLinks } from './why-customer.ts'
import type { Link, Why, WhyFacts } from './why-facts.ts'

/** The chain, in the order in which access comes about. */
export const explain = (facts: WhyFacts): Why => {
  const { tenant, feature, verdict } = facts
  const chain = [
    tenantLink(facts),
    ...overrideLinks(facts),
    ...facts.customers.flatMap((customer) => customerLinks(facts, customer)),
    catalogLink(facts),
    ...heldLink(facts),
  ]
  const first = chain.find(({ ok }) => ok === false) ?? null
  return {
    tenant,
    feature,
    allowed: verdict.allowed,
    value: verdict.value,
    sentence: sentenceOf(facts, first),
    first,
    chain,
  }
}

const sentenceOf = ({ tenant, feature, verdict }: WhyFacts, first: Link | null): string => {
  if (verdict.allowed) {
    const value = verdict.value === true ? '' : ` (${String(verdict.value)})`
    const until = verdict.until === null ? '' : `, until ${toIso(verdict.until)} by what is known`
    return `${tenant} may use ${feature}${value}: ${SOURCES[verdict.source ?? ''] ?? verdict.source}${until}.`
  }
  return `${tenant} may not use ${feature}${first === null ? '' : `: ${first.says}`}`
}

const SOURCES: Record<string, string> = {
  stripe: 'a subscription gives it',
  manual: 'a person granted it',
  default: 'the default plan gives it',
}

const tenantLink = ({ tenant, tenantKnown, customers }: WhyFacts): Link => {
  if (customers.length > 0) {
    const names = customers.map((each) => `${each.customerId} (${each.account}, linked by ${each.linkedBy})`)
    return { link: 'tenant', ok: true, says: `${tenant} is ${names.join(' and ')}.` }
  }
  const says = tenantKnown
    ? `No Stripe customer is linked to ${tenant}: link one, or set metadata.tenant_id in Stripe.`
    : `Nobody ever named a tenant ${tenant}: check the spelling, or link its customer.`
  return { link: 'tenant', ok: false, says }
}

const overrideLinks = ({ overrides }: WhyFacts): Link[] =>
  overrides.map(({ id, effect, value, until, operator, reason }) => ({
    link: 'override',
    ok: effect === 'allow',
    says: `${operator} ${effect === 'allow' ? `granted it (${String(value)})` : 'denied it'} ${
      until === null ? 'for good' : `until ${toIso(until)}`
    } (grant ${id}): ${reason}`,
  }))

const catalogLink = ({ catalog, feature }: WhyFacts): Link => {
  if (catalog === null) return { link: 'catalog', ok: false, says: 'No catalog was ever loaded.' }
  const version = `Catalog ${catalog.hash.slice(0, 12)}`
  if (catalog.plansWith.length === 0 && !catalog.defaultGives)
    return { link: 'catalog', ok: false, says: `${version}: no plan gives ${feature}; check the spelling.` }
  return {
    link: 'catalog',
    ok: true,
    says: `${version}: ${feature} comes with ${catalog.plansWith.join(', ')}.`,
  }
}

const heldLink = ({ revocationsHeldUntil: until }: WhyFacts): Link[] =>
  until === null
    ? []
    : [{ link: 'hold', ok: null, says: `Revocations are held until ${toIso(until)}: nobody loses access.` }]
