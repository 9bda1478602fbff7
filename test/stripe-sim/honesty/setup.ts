// Runs once before the specs: reads the SDK's types, so that no spec pays for it.
import { stripeSchemas } from './generate.ts'

export const setup = (): void => void stripeSchemas()
