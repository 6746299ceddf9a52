export function Cube(edge) {
  this.edge = edge
}

Cube.prototype.volume = function () {
  return this.edge ** 3
}

Cube.prototype.surface = function () {
  return 6 * this.edge ** 2
}
