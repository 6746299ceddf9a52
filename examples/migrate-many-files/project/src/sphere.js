export function Sphere(radius) {
  this.radius = radius
}

Sphere.prototype.volume = function () {
  return (4 / 3) * Math.PI * this.radius ** 3
}

Sphere.prototype.surface = function () {
  return 4 * Math.PI * this.radius ** 2
}
