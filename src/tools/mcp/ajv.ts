// A file of its own, to be loaded when it is needed: imported by themselves, these lose their names in the bundle.
export { Ajv } from 'ajv'
export { Ajv2020 } from 'ajv/dist/2020.js'
export { default as formats } from 'ajv-formats'
